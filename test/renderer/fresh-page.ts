import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll } from 'vitest'

// Every app has the parts of the kit, also where a test mounts one component of a page.
if (typeof document !== 'undefined') {
  const { config } = await import('@vue/test-utils')
  const { installConsoleKit } = await import('../../renderer/console/installConsoleKit.ts')
  config.global.plugins = [{ install: installConsoleKit }]
}

// A page is opened by the router, which adds them.
beforeAll(async () => {
  if (typeof document === 'undefined') return
  const { addLaterTexts } = await import('../../renderer/console/i18n/index.ts')
  await addLaterTexts()
})

// All tests share one page: resets its language and messages after each, even after a failure.
afterEach(async () => {
  // Some tests of this folder run without a page.
  if (typeof document === 'undefined') return
  if (!['', 'en', 'en-GB'].includes(document.documentElement.lang)) {
    const { showLanguage } = await import('../../renderer/console/i18n/index.ts')
    await showLanguage('en')
  }
  // A message such as "The settings were saved" stays for seconds; the next test would take it for its own.
  const { closeMessages } = await import('../../renderer/kit/messages/messages.ts')
  closeMessages()
})

// A closed dialog returns its step of the history a moment later, and needs the page for it.
afterAll(async () => {
  if (typeof document === 'undefined') return
  const { nextLayerMs } = await import('../../renderer/kit/layers/history-step.ts')
  await sleep(nextLayerMs)
})
