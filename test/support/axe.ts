import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const script = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Finds accessibility violations on the current page, one line each: the rule and the elements.
 * @param looksFor `colours`: only rules about colours, for a page whose structure was checked in another theme
 * @param within selector of the part to look at; default: the whole page
 */
export async function violations(
  page: Page,
  looksFor: 'everything' | 'colours' = 'everything',
  within?: string,
): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(script)
  const found = await look(page, looksFor, within)
  // An element may have faded in while axe ran: only violations that persist count.
  return found.length === 0 ? [] : await look(page, looksFor, within)
}

async function look(page: Page, looksFor: 'everything' | 'colours', within?: string): Promise<string[]> {
  // Waits for running animations: colours in transition are not final.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity).map(({ finished }) => finished.catch(() => {})))',
  )
  // Leaves out passed rules, which nobody reads.
  const options = {
    resultTypes: ['violations'],
    // Off by default: people who speak to their device say what they read on a button.
    rules: { 'label-content-name-mismatch': { enabled: true } },
    ...(looksFor === 'colours' ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}),
  }
  const results = await page.evaluate<AxeResults>(
    `axe.run(${within === undefined ? 'document' : JSON.stringify(within)}, ${JSON.stringify(options)})`,
  )
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
  )
}
