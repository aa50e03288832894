import { z } from 'zod'

/** A text for people: in one language, or in those of the console. */
export const wordedText = z.union([
  z.string(),
  z.strictObject({ en: z.string(), zh: z.string().optional(), de: z.string().optional() }),
])
export type WordedText = z.output<typeof wordedText>
