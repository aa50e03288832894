import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { z } from 'zod'
import { violations } from '../../support/axe.ts'
import { controls } from '../walk/page-controls.ts'
import { PageWalk } from '../walk/page-walk.ts'
import { surfaceKinds } from './sources.ts'

const functions = readFileSync(join(import.meta.dirname, 'in-page.js'), 'utf8')
const names = z.array(z.string())
/** Time within which a page on a busy machine shows a control, in milliseconds. */
const patienceMs = 15_000
/** Folder for screenshots. */
const pictures = process.env.ROOMDESK_PICTURES

/** Sizes of a desktop's and a phone's window. */
export const sizes = { desktop: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } } as const
export type Size = keyof typeof sizes

/** How to open a dialog, drawer, panel or menu. */
export interface Way {
  route: string
  /** Controls to click one after the other, by the names that the walk gives them; a function does anything else. */
  path: readonly (string | ((page: Page) => Promise<void>))[]
  /** The only size that has it. */
  only?: Size
}

/** Themes to look at. */
export const allThemes = ['light', 'dark'] as const
export type Themes = readonly (typeof allThemes)[number][]

/** Opens surfaces of the console, and finds what axe says of each. */
export class SurfaceWalk extends PageWalk {
  /** Violations by surface, size and theme. */
  readonly found: Record<string, string[]> = {}

  /** Opens a surface in a size of the window and looks at it in these themes. One that does not open is noted, too. */
  async look(name: string, way: Way, size: Size, themes: Themes = allThemes): Promise<void> {
    if (way.only !== undefined && way.only !== size) return
    try {
      await this.open(way, size)
      await lookAt(this.page, name, size, this.found, themes)
    } catch (error) {
      this.found[`${name}, ${size}`] = [error instanceof Error ? error.message : String(error)]
    }
  }

  /** Opens a surface in a size of the window. @throws Error when a control of its path is not there */
  async open(way: Way, size: Size): Promise<void> {
    await this.page.setViewportSize(sizes[size])
    await this.goTo(way.route, [])
    for (const step of way.path) {
      if (typeof step === 'string') await this.#pressWhenThere(step)
      else await step(this.page)
      await this.settle()
    }
  }

  /** Clicks a control as soon as the page has it. @throws Error with the controls that are there, if it stays away */
  async #pressWhenThere(name: string): Promise<void> {
    const deadline = performance.now() + patienceMs
    while ((await this.press(name)) !== undefined) {
      if (performance.now() > deadline)
        throw new Error(`no control "${name}". There are: ${(await controls(this.page)).join(' | ')}`)
      await this.settle()
    }
  }
}

/** Waits for a surface and notes what axe finds in it, in each theme. */
export async function lookAt(
  page: Page,
  name: string,
  size: Size,
  found: Record<string, string[]>,
  themes: Themes = allThemes,
): Promise<void> {
  for (const colorScheme of themes) {
    if (themes.length > 1) await page.emulateMedia({ colorScheme })
    // Marked for each: a dialog may be drawn anew, with what its page has learnt meanwhile.
    await expect.poll(() => mark(page, name), { message: `${name}, ${size}` }).toContain(name)
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name} ${size} ${colorScheme}.png`) })
    // Both themes have the same structure.
    const some = await violations(page, colorScheme === 'light' ? 'everything' : 'colours', '[data-surface]')
    if (some.length > 0) found[`${name}, ${size}, ${colorScheme}`] = some
  }
  if (themes.length > 1) await page.emulateMedia({ colorScheme: 'light' })
}

/** Marks a surface for axe. Returns the names of all that are open. */
async function mark(page: Page, name: string): Promise<string[]> {
  const call = `surfaces.openSurfaces(${JSON.stringify(surfaceKinds)}, ${JSON.stringify(name)})`
  return names.parse(await page.evaluate(`(() => {\n${functions}\nreturn ${call}\n})()`))
}
