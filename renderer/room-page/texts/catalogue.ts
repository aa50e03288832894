import type { en } from './en.ts'

type Shape<T> = { [K in keyof T]: T[K] extends string ? string : Shape<T[K]> }
/** A catalogue with the keys of the English one: a missing text fails the type check. */
export type Texts = Shape<typeof en>
