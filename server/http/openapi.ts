import { z } from 'zod'
import { limits } from '../../shared/limits.ts'
import type { OperationContract } from '../../shared/operation.ts'
import { type ApiName, retOf, sentenceOf } from '../../shared/result-codes.ts'

type Json = { [key: string]: Json } | Json[] | string | number | boolean | null

type JsonObject = Record<string, Json>

const titles: Readonly<Record<ApiName, { title: string; description: string }>> = {
  media: {
    title: 'Roomdesk media room API',
    description:
      'Rooms, the MCU that serves them and the people in them. Every answer is HTTP 200 with a JSON object; `ret` is 0 on success. ' +
      'Authenticate first: digest = base64(hex(hmac_sha1(secret_key, access_key))); the answer gives random and key, and ' +
      'access_token = base64(hex(hmac_sha1(secret_key, random + ":" + key))).',
  },
  device: {
    title: 'Roomdesk external device API',
    description:
      'Outgoing users: external devices that are joined to a room. Every answer is HTTP 200 with a JSON object; `ret` is 0 on success. ' +
      'The access token comes from the authenticate operation of the media room API. A parameter travels in the query or in the body, never in both.',
  },
}

/**
 * Returns the OpenAPI 3.1 document of one listener, from its contracts. Operations for clients of the original platform
 * are marked with `x-setting`.
 * @param version version of the product
 */
export function openApiDocument(api: ApiName, contracts: readonly OperationContract[], version: string): JsonObject {
  const paths: JsonObject = {}
  for (const contract of contracts) {
    paths[contract.path] = Object.fromEntries(
      contract.methods.map((method) => [method.toLowerCase(), describe(contract, method)]),
    )
  }
  return {
    openapi: '3.1.0',
    info: { ...titles[api], version },
    servers: [{ url: '/' }],
    paths,
  }
}

function describe(contract: OperationContract, method: 'GET' | 'POST'): JsonObject {
  const parameters = method === 'GET' ? [...ownParameters(contract), ...tokenParameter(contract)] : []
  return {
    operationId: method === 'GET' ? contract.name : `${contract.name}_${method.toLowerCase()}`,
    summary: contract.summary,
    ...(contract.extension === true ? { description: 'Beyond the specification of the API.' } : {}),
    ...(contract.setting === undefined ? {} : { 'x-setting': `compatibility.${contract.setting}` }),
    parameters: [...parameters, callbackParameter],
    ...(method === 'POST' ? { requestBody: requestBody(contract) } : {}),
    responses: { '200': response(contract) },
  }
}

function ownParameters(contract: OperationContract): JsonObject[] {
  const { properties, required } = parametersSchema(contract)
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function tokenParameter({ token }: OperationContract): JsonObject[] {
  const [name, ...aliases] = token ?? []
  if (name === undefined) return []
  return [
    {
      name,
      in: 'query',
      required: true,
      description: tokenText(aliases),
      schema: { type: 'string' },
      'x-aliases': aliases,
    },
  ]
}

function tokenText(aliases: readonly string[]): string {
  return `Access token. Also accepted as ${aliases.join(', ')}.`
}

const callbackParameter: JsonObject = {
  name: 'callback',
  in: 'query',
  required: false,
  description:
    'JSONP: with it, and with an Accept header in the request, the answer is a script that calls this function with the answer.',
  schema: { type: 'string', maxLength: limits.callback, pattern: '^[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)*$' },
}

function requestBody(contract: OperationContract): JsonObject {
  const { properties, required } = parametersSchema(contract)
  const [token, ...aliases] = contract.token ?? []
  const schema: JsonObject = {
    type: 'object',
    properties: {
      ...properties,
      ...(token === undefined ? {} : { [token]: { type: 'string', description: tokenText(aliases) } }),
    },
    required: token === undefined ? required : [...required, token],
  }
  return {
    description: 'Any of these may be in the query instead.',
    content: { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema } },
  }
}

/** Returns the parameters of an operation as JSON Schema, including limits that JSON Schema cannot express. */
export function parametersSchema(contract: OperationContract): {
  properties: Record<string, JsonObject>
  required: string[]
} {
  const schema = jsonSchema(contract.params, 'input')
  const shape: Record<string, z.ZodType | undefined> = contract.params.shape
  const properties: Record<string, JsonObject> = {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  for (const [name, property] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (!isObject(property)) continue
    const { default: fallback, ...rest } = property
    // A parameter whose absence is checked by the operation itself is required, too.
    if (fallback === '') required.push(name)
    properties[name] = withBounds(rest, shape[name])
  }
  return { properties, required }
}

/** Adds the limits of a parameter, from the schema's message about a value that is too long. */
function withBounds(property: JsonObject, schema: z.ZodType | undefined): JsonObject {
  if (schema === undefined) return property
  const rule = z.safeParse(schema, '\u{1F4A1}'.repeat(limits.requestTarget)).error?.issues[0]?.message ?? ''
  if (!rule.startsWith('must')) return property
  const [, min, max] = /^must be a whole number from (\d+) to (\d+)$/.exec(rule) ?? []
  if (min !== undefined && max !== undefined) {
    return { type: 'integer', minimum: Number(min), maximum: Number(max) }
  }
  return { ...property, description: `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.` }
}

/** Returns the JSON Schema of a success, without `ret`. */
export function successSchema(contract: OperationContract): JsonObject {
  return jsonSchema(contract.success, 'output')
}

/** Returns the sentences of every `ret` of a failure, in ascending order. */
export function failures(contract: OperationContract): Map<number, string[]> {
  const codes = new Map<number, string[]>()
  for (const error of contract.errors) {
    const ret = retOf(contract.api, error)
    if (ret !== undefined) codes.set(ret, [...(codes.get(ret) ?? []), sentenceOf(error)])
  }
  return new Map([...codes].sort(([one], [other]) => one - other))
}

function response(contract: OperationContract): JsonObject {
  const { properties, required } = successSchema(contract)
  const codes = failures(contract)
  const rets = [...codes.keys()]
  const rows = rets.map((ret) => `| ${ret} | ${codes.get(ret)?.join(' ')} |`)
  const bothPairs = contract.setting !== undefined && contract.api === 'device'
  const more: JsonObject = bothPairs ? { result: { description: 'As ret.' }, err: { description: 'As msg.' } } : {}
  const success: JsonObject = {
    type: 'object',
    title: 'Success',
    properties: {
      ret: { const: 0 },
      ...(bothPairs ? { msg: { const: '' } } : {}),
      ...more,
      ...(isObject(properties) ? properties : {}),
    },
    required: [
      'ret',
      ...(bothPairs ? ['msg', ...Object.keys(more)] : []),
      ...(Array.isArray(required) ? required : []),
    ],
    additionalProperties: false,
  }
  const failure: JsonObject = {
    type: 'object',
    title: 'Failure',
    properties: { ret: { enum: rets }, msg: { type: 'string', description: 'What to mend.' }, ...more },
    required: ['ret', 'msg', ...Object.keys(more)],
    additionalProperties: false,
  }
  return {
    description: [
      'Whatever happened; `ret` says what.',
      '',
      '| ret | meaning |',
      '|---|---|',
      '| 0 | Success. |',
      ...rows,
    ].join('\n'),
    content: {
      'application/json': { schema: { oneOf: [success, failure] } },
      'text/javascript': { schema: { type: 'string', description: 'JSONP: `/**/callback({...});`' } },
    },
  }
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io })
  void $schema
  // Copied through text, because zod's output is JSON but its type is less precise.
  const copy: unknown = JSON.parse(JSON.stringify(rest))
  return isObject(copy) ? copy : {}
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
