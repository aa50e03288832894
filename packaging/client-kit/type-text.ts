import { z } from 'zod'

/** Parts of JSON Schema that the contract uses. */
interface Schema {
  type?: string | undefined
  description?: string | undefined
  enum?: unknown[] | undefined
  anyOf?: Schema[] | undefined
  items?: Schema | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(schema).optional(),
    items: schema.optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
  }),
)

/**
 * Returns the TypeScript type of a JSON Schema.
 * @throws TypeError if the schema has a form that the contract has not used before
 */
export function typeText(json: unknown): string {
  return textOf(schema.parse(json))
}

function textOf(given: Schema): string {
  if (given.enum !== undefined) return given.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (given.anyOf !== undefined) return given.anyOf.map(textOf).join(' | ')
  switch (given.type) {
    case 'string':
    case 'number':
    case 'boolean':
      return given.type
    case 'integer':
      return 'number'
    case 'array':
      return given.items === undefined ? 'unknown[]' : `(${textOf(given.items)})[]`
    case 'object':
      return given.properties === undefined ? 'Record<string, unknown>' : objectText(given.properties, given.required)
    default:
      throw new TypeError(`The client kit has no type for ${JSON.stringify(given)}.`)
  }
}

function objectText(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const isOptional = !required.includes(name)
    return `${docText(field)}${name}${isOptional ? '?' : ''}: ${textOf(field)}${isOptional ? ' | undefined' : ''}`
  })
  return `{\n${fields.join('\n')}\n}`
}

function docText({ description, minimum, maximum }: Schema): string {
  const isBounded = minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
  const rule = description ?? (isBounded ? `Must be a whole number from ${minimum} to ${maximum}.` : undefined)
  if (rule === undefined) return ''
  const text = rule.replace(/^Must be /, '')
  return `/** ${text.charAt(0).toUpperCase()}${text.slice(1)} */\n`
}
