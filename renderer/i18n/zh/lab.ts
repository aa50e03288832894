import type { Texts } from '../text.ts'
import type { lab as english } from '../en/lab.ts'

export const lab: Texts<typeof english> = { title: '' }
