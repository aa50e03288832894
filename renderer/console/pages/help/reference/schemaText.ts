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
  for (const alternatives of [schema.anyOf, schema.oneOf])
    if (hasParts(alternatives))
      return partsOf(alternatives)
        .map((one) => typeText(one, indent))
        .join(' | ')
  if (hasParts(schema.allOf))
    return partsOf(schema.allOf)
      .map((one) => typeText(one, indent))
      .join(' & ')
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

function arrayText(schema: Schema, indent: string): string {
  if (hasParts(schema.prefixItems))
    return `[${partsOf(schema.prefixItems)
      .map((one) => typeText(one, indent))
      .join(', ')}]`
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
