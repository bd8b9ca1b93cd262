/* relu.c: runs a compiled model through the C ABI. Build: cc relu.c -o relu_c -Iruntime_stub/include ./relu.so '-Wl,-rpath,$ORIGIN'. */
#include <onnxc/onnxc.h>
#include <stdio.h>

int main(void) {
  const onnxc_api *api = onnxc_get_api(ONNXC_ABI_VERSION);
  if (!api)
    return 1;
  onnxc_error error = {0};
  onnxc_model *model;
  onnxc_context *context;
  if (api->model_create(NULL, &model, &error) || api->context_create(model, NULL, &context, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  float x[2][3] = {{-1, 2, -3}, {4, -5, 6}};
  int64_t shape[2] = {2, 3};
  onnxc_value in = {.dtype = 1, .tensor = {.data = x, .ndim = 2, .shape = shape}}, out = {0};
  if (api->run(context, &in, 1, &out, 1, &error)) {
    fprintf(stderr, "%s: %s\n", error.node, error.message);
    return 1;
  }
  const float *y = out.tensor.data;
  for (int i = 0; i < 6; ++i)
    printf("%g ", (double)y[i]);
  printf("\n");
  shape[1] = 4; /* the model needs 3: an error, no crash */
  const int refused = api->run(context, &in, 1, &out, 1, &error);
  printf("%s\n", error.message);
  api->context_destroy(context);
  api->model_destroy(model);
  return refused ? 0 : 1;
}
