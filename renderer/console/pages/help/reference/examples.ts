import type { TesterOperation } from '../../../../../shared/console/tester.ts'

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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns an example for a JSON Schema: a realistic value for known names, else a minimal one. */
function exampleOf(schema: unknown, name = ''): unknown {
  if (!isObject(schema)) return null
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
  if (!isObject(schema) || !isObject(schema.properties)) return {}
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
