import type { Texts } from '../text.ts'
import type { settings as english } from '../en/settings.ts'

export const settings: Texts<typeof english> = { title: '' }
