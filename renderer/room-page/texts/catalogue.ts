import type { en } from './en.ts'

/** A text for each plural form of its language (Intl.PluralRules); `other` stands for all that are missing. */
export type Plural = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

type Shape<T> = {
  [K in keyof T]: T[K] extends string ? string : T[K] extends { other: string } ? Plural : Shape<T[K]>
}
/** A catalogue with the keys of the English one: a missing text fails the type check. */
export type Texts = Shape<typeof en>
