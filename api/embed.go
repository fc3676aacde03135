package api

import _ "embed"

// Spec is openapi.yaml, the OpenAPI 3.1 description of the API, as it is served
// at /openapi.yaml (contract §8). It must not be modified.
//
//go:embed openapi.yaml
var Spec []byte
