import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const script = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds wrong on the page as it is, one line each: the rule, and what it is about.
 * @param looksFor `colours`: only what depends on them, for a page whose structure was looked at in another theme
 */
export async function violations(page: Page, looksFor: 'everything' | 'colours' = 'everything'): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(script)
  const found = await look(page, looksFor)
  // Something may have come, and begun to fade in, while axe looked: what is wrong is so the second time, too.
  return found.length === 0 ? [] : await look(page, looksFor)
}

async function look(page: Page, looksFor: 'everything' | 'colours'): Promise<string[]> {
  // Colours that are still fading are nobody's.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity).map(({ finished }) => finished.catch(() => {})))',
  )
  // Nobody reads what passed: axe need not gather it.
  const options = {
    resultTypes: ['violations'],
    ...(looksFor === 'colours' ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}),
  }
  const results = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`)
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
  )
}
