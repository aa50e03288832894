import { z } from 'zod'

type WithoutDefault<T> = T extends z.ZodDefault<infer Inner extends z.ZodType> ? Inner : T

/**
 * Returns the fields of an object schema as optional fields without defaults, so that a patch changes only the fields
 * in it.
 */
export function optionalFields<S extends z.ZodRawShape>(
  schema: z.ZodObject<S>,
): { [K in keyof S]: z.ZodOptional<WithoutDefault<S[K]> & z.ZodType> } {
  const fields = Object.entries(schema.shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ])
  // Object.fromEntries loses the types by key; the return type above contains them.
  return Object.fromEntries(fields) as { [K in keyof S]: z.ZodOptional<WithoutDefault<S[K]> & z.ZodType> }
}
