import type { Page } from 'playwright-core'
import { pageHalfKey } from '../../renderer/kit/transport/page-half.ts'

/** Puts the page's half of a session into the storage of the console's origin, as the sign-in page does. */
export async function keepHalf(page: Page, half: string): Promise<void> {
  await page.addInitScript(([key, value]) => localStorage.setItem(key, value), [pageHalfKey, half] as const)
}
