import type { Page } from 'playwright-core'
import { violations } from '../../support/axe.ts'
import { expect } from 'vitest'
import { firstRunSteps } from '../../../shared/first-run.ts'

/** Addresses of routes that need a parameter. */
const examples: Readonly<Record<string, string | readonly string[]>> = {
  '/welcome/:step?': firstRunSteps.map((step) => `/welcome/${step}`),
  '/help/:group/:page': '/help/operate/install',
  '/clients/:key': '/clients/no-such-client',
  '/kiosk/:view': '/kiosk/no-such-view',
  '/:rest(.*)*': '/no-such-page',
}
/** Sizes of a desktop's and a phone's window. */
const sizes = { desktop: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } } as const

/** Router of the page itself, as an expression. */
const router = `document.querySelector('#app').__vue_app__.config.globalProperties.$router`

/** Reads every address from the router of the page itself, so that a new page cannot be forgotten. */
async function everyPath(page: Page): Promise<string[]> {
  const routes = await page.evaluate<string[]>(`${router}.getRoutes().map(({ path }) => path)`)
  const paths = routes.flatMap((route) => {
    const given = [examples[route] ?? route.replaceAll(/\/:\w+\?/g, '')].flat()
    if (given.some((path) => path.includes(':'))) throw new Error(`${route} needs an example of its parameters`)
    return given
  })
  return [...new Set(paths)].filter((path) => path !== '/')
}

/** Opens every page in a size, and looks at each once it is loaded. */
export async function visitEveryPage(
  page: Page,
  size: keyof typeof sizes,
  look: (path: string) => Promise<void> | void,
): Promise<void> {
  const before = page.viewportSize()
  await page.setViewportSize(sizes[size])
  for (const path of await everyPath(page)) {
    await page.evaluate(`location.hash = ${JSON.stringify(path)}`)
    // The page before stays until the code of this one is loaded.
    await expect
      .poll(() => page.evaluate(`${router}.currentRoute.value.fullPath === location.hash.slice(1)`))
      .toBe(true)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await expect.poll(() => page.getByRole('status', { name: 'Loading…' }).count()).toBe(0)
    await look(path)
  }
  await page.setViewportSize(before ?? sizes.desktop)
}

/** Finds accessibility violations of every page in a size, by size and address. */
export async function violationsOfPages(
  page: Page,
  size: keyof typeof sizes,
  looksFor: 'everything' | 'colours',
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  await visitEveryPage(page, size, async (path) => {
    const some = await violations(page, looksFor)
    if (some.length > 0) found[`${size} ${path}`] = some
  })
  return found
}
