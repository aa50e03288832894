import type { DevtoolsPage } from './devtools.ts'

/** Required directives of the console page's policy. */
const directives = ["default-src 'self'", "script-src 'self'", "object-src 'none'", "frame-ancestors 'none'"]

/** Checks that the policy exists, and stops an injected script. */
export async function policyHolds(page: DevtoolsPage): Promise<string> {
  const policy = String(
    await page.evaluate(`fetch('/index.html').then(({ headers }) => headers.get('content-security-policy') ?? '')`),
  )
  const missing = directives.filter((directive) => !policy.includes(directive))
  if (missing.length > 0) throw new Error(`its policy "${policy}" lacks ${missing.join(' and ')}`)
  const ran = await page.evaluate(`(() => {
    const script = document.createElement('script')
    script.textContent = 'globalThis.smoke = true'
    document.body.append(script)
    script.remove()
    return 'smoke' in globalThis
  })()`)
  if (ran === true) throw new Error('a script that was written into the page ran')
  return 'an inline script is stopped'
}

/** Checks that the page has nothing of Node or Electron, and one frozen bridge. */
export async function nodeIsAbsent(page: DevtoolsPage): Promise<string> {
  const names = ['require', 'process', 'module', 'Buffer', 'ipcRenderer', 'electron']
  const found = (await page.evaluate(`${JSON.stringify(names)}.filter((name) => name in globalThis)`)) as string[]
  if (found.length > 0) throw new Error(`the page has ${found.join(', ')}`)
  const bridge = (await page.evaluate(
    `[Object.isFrozen(roomdesk), Object.keys(roomdesk).sort().join(' ')]`,
  )) as unknown[]
  if (bridge[0] !== true) throw new Error('the page can change its bridge')
  return `its bridge: ${String(bridge[1])}`
}
