import type { Texts } from '../text.ts'
import type { tester as english } from '../en/tester.ts'

export const tester: Texts<typeof english> = { title: '' }
