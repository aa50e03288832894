import { z } from 'zod'

/** A text of an answer that a test recognizes: long enough that no rule takes it for a number or a plain word. */
export function canaryOf(path: string): string {
  return `Canary~${path}~secret`
}

/** Returns an answer that a schema allows in which each text names its own path, e.g. `data.items.url`. */
export function sampleAnswer(schema: z.ZodType, path = ''): unknown {
  if (schema instanceof z.ZodObject) {
    const shape: Record<string, z.ZodType> = schema.shape
    return Object.fromEntries(
      Object.entries(shape).map(([name, field]) => [name, sampleAnswer(field, path === '' ? name : `${path}.${name}`)]),
    )
  }
  if (schema instanceof z.ZodArray) return [sampleAnswer(schema.element as z.ZodType, path)]
  if (schema instanceof z.ZodRecord) return { [canaryOf(`${path}.name`)]: canaryOf(`${path}.value`) }
  if (schema instanceof z.ZodEnum) return schema.options[0]
  if (schema instanceof z.ZodString) return canaryOf(path)
  if (schema instanceof z.ZodBoolean) return true
  if (schema instanceof z.ZodNumber) return 1
  throw new Error(`the sample of ${path} needs a value for a ${schema.type}`)
}
