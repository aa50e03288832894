import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { z } from 'zod'
import { languages } from '../../../shared/languages.ts'

const functions = readFileSync(join(import.meta.dirname, 'find-cut-texts.js'), 'utf8')
/** Without menus, which find their place when they open. */
const surfaces = '.side-panel, dialog'
const texts = z.array(z.string())
const pictures = process.env.ROOMDESK_PICTURES

type Call = (
  name: 'settings.set',
  input: { console: { language: (typeof languages)[number]['id'] } },
) => Promise<unknown>

/** Looks at the open surface in each language, and notes which of its texts are cut off. The page speaks English again afterwards. */
export async function noteCutTexts(page: Page, call: Call, name: string, cut: Record<string, string[]>): Promise<void> {
  // English is the first of them.
  for (const { id, tag } of languages.toReversed()) {
    await call('settings.set', { console: { language: id } })
    await expect.poll(() => page.evaluate('document.documentElement.lang')).toBe(tag)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
    const seen = `surfaces.cutTexts(${JSON.stringify(surfaces)})`
    const found = texts.parse(await page.evaluate(`(() => {\n${functions}\nreturn ${seen}\n})()`))
    if (found.length > 0) cut[`${name}, ${id}`] = found
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name} ${id}.png`) })
  }
}
