import type { TesterOperation } from '../../../../../shared/console/tester.ts'

/** A JSON Schema, or a part of one. */
type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const partsOf = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : [])
const hasParts = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** Formats a JSON Schema as a TypeScript type, which is shorter. Limits follow as a comment. */
export function schemaText(schema: unknown): string {
  return typeText(schema, '')
}

function typeText(schema: unknown, indent: string): string {
  if (!isSchema(schema)) return 'unknown'
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (hasParts(schema.anyOf)) return joined(schema.anyOf, ' | ', indent)
  if (hasParts(schema.oneOf)) return joined(schema.oneOf, ' | ', indent)
  if (hasParts(schema.allOf)) return joined(schema.allOf, ' & ', indent)
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type }, indent)).join(' | ')
  switch (schema.type) {
    case 'object':
      return objectText(schema, indent)
    case 'array':
      return arrayText(schema, indent)
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    default:
      return 'unknown'
  }
}

function joined(schemas: unknown, separator: string, indent: string): string {
  return partsOf(schemas)
    .map((one) => typeText(one, indent))
    .join(separator)
}

function arrayText(schema: Schema, indent: string): string {
  if (hasParts(schema.prefixItems)) return `[${joined(schema.prefixItems, ', ', indent)}]`
  const item = typeText(schema.items, indent)
  return isSeveral(schema.items) ? `(${item})[]` : `${item}[]`
}

/** Returns whether the text of a schema is a union, which needs parentheses in an array. */
function isSeveral(schema: unknown): boolean {
  return isSchema(schema) && [schema.enum, schema.anyOf, schema.oneOf, schema.allOf, schema.type].some(hasParts)
}

function objectText(schema: Schema, indent: string): string {
  const properties = Object.entries(isSchema(schema.properties) ? schema.properties : {})
  if (properties.length === 0) {
    return isSchema(schema.additionalProperties)
      ? `{ [name: string]: ${typeText(schema.additionalProperties, indent)} }`
      : '{}'
  }
  const required = Array.isArray(schema.required) ? schema.required : []
  const inner = `${indent}  `
  const lines = properties.map(([name, property]) => {
    const key = /^[\w$]+$/.test(name) ? name : JSON.stringify(name)
    const limits = limitText(property)
    return `${inner}${key}${required.includes(name) ? '' : '?'}: ${typeText(property, inner)}${limits === '' ? '' : `  // ${limits}`}`
  })
  return `{\n${lines.join('\n')}\n${indent}}`
}

/** Returns the limits of a value: range, length and default. */
function limitText(schema: unknown): string {
  if (!isSchema(schema)) return ''
  const { minimum, maximum, minLength, maxLength, maxItems, pattern, default: fallback } = schema
  const range = (least: unknown, most: unknown, unit: string): string[] => {
    const isBound = (one: unknown): one is number => typeof one === 'number' && Math.abs(one) < Number.MAX_SAFE_INTEGER
    if (isBound(least) && isBound(most)) return [`${least} to ${most}${unit}`]
    if (isBound(most)) return [`at most ${most}${unit}`]
    return isBound(least) && least !== 0 ? [`at least ${least}${unit}`] : []
  }
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(undefined, maxItems, ' items'),
    ...(typeof pattern === 'string' && pattern.length <= 60 ? [pattern] : []),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
  ].join(', ')
}

/** Realistic example values, by name of the parameter or field. */
const known: Readonly<Record<string, string | number>> = {
  room_id: '123456789',
  roomId: '123456789',
  user_id: 'anna',
  userId: 'door',
  userName: 'Door',
  user_name: 'Anna',
  owner_id: 'me',
  topic: 'Morning meeting',
  room_mode: 1,
  userAddress: 'rtsp://192.0.2.10:554/live',
  room_extend_id: 'lobby',
  client_info: '{"access_tocken":"TOKEN"}',
  access_key: 'ACCESS_KEY',
  accessKey: 'ACCESS_KEY',
  secretKey: 'SECRET_KEY',
  digest: 'DIGEST',
  addr: '192.0.2.5:7082',
  url: 'https://192.0.2.5:7082/…',
}

/** Returns an example for a JSON Schema: a realistic value for known names, else a minimal one. */
function exampleOf(schema: unknown, name = ''): unknown {
  if (!isSchema(schema)) return null
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  for (const alternatives of [schema.anyOf, schema.oneOf])
    if (Array.isArray(alternatives)) return exampleOf(alternatives[0], name)
  if (Array.isArray(schema.type)) return exampleOf({ ...schema, type: String(schema.type[0]) }, name)
  const value = Object.hasOwn(known, name) ? known[name] : undefined
  switch (schema.type) {
    case 'object':
      return exampleObject(schema)
    case 'array':
      return Number(schema.minItems ?? 0) > 0 || !('minItems' in schema) ? [exampleOf(schema.items, name)] : []
    case 'integer':
    case 'number':
      return typeof value === 'number' ? value : Math.max(Number(schema.minimum ?? 0), 0)
    case 'boolean':
      return true
    case 'string':
      return value === undefined ? '…' : String(value)
    default:
      return null
  }
}

/** Returns an example with all fields of an answer; `onlyRequired`: only the required fields of an input. */
export function exampleObject(schema: unknown, onlyRequired = false): Record<string, unknown> {
  if (!isSchema(schema) || !isSchema(schema.properties)) return {}
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
  return Object.fromEntries(
    Object.entries(schema.properties)
      .filter(([name]) => !onlyRequired || required.includes(name))
      .map(([name, property]) => [name, exampleOf(property, name)]),
  )
}

/**
 * Returns a curl request of an operation with its required parameters and the token. @param base URL of the listener
 */
export function exampleRequest(operation: TesterOperation, base: string): string {
  const needed = operation.parameters.filter(({ required }) => required)
  const values = needed.map(({ name, schema }) => {
    const value = exampleOf(schema, name)
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const
  })
  const token = operation.token === '' ? [] : [[operation.token, '$TOKEN'] as const]
  const lines = [...token, ...values].map(([name, value]) =>
    value === '$TOKEN' ? `  --data-urlencode "${name}=$TOKEN"` : `  --data-urlencode '${name}=${value}'`,
  )
  return [`curl -sG ${base}${operation.path}`, ...lines].join(' \\\n')
}
