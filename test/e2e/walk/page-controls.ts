import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { z } from 'zod'

const functions = readFileSync(join(import.meta.dirname, 'in-page.js'), 'utf8')
const names = z.array(z.string())

/** Begins the names of controls outside of the page, e.g. in the navigation. */
export const aroundPage = 'around: '

const inPage = (page: Page, call: string): Promise<unknown> =>
  page.evaluate(`(() => {\n${functions}\nreturn walk.${call}\n})()`)

/** Names of the enabled controls in front: of the dialog or menu that is open, else of the page. */
export async function controls(page: Page): Promise<string[]> {
  return names.parse(await inPage(page, `markControls(${JSON.stringify(aroundPage.trim())})`))
}

/** Clicks a control. Resolves to false if it is not there any more. */
export async function click(page: Page, name: string): Promise<boolean> {
  return (await inPage(page, `clickControl(${JSON.stringify(name)})`)) === true
}

/** Resolves when the page has not changed for some frames, or does not rest. */
export async function rest(page: Page): Promise<void> {
  await inPage(page, 'restPage()')
}

/** Paths of the pages that are linked. */
export async function links(page: Page): Promise<string[]> {
  return names.parse(await inPage(page, 'linkedPaths()'))
}
