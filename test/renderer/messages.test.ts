import { expect, test } from 'vitest'
import { createApp, h } from 'vue'
import MessageHost from '../../renderer/kit/messages/MessageHost.vue'
import { useFeedback } from '../../renderer/console/composables/useFeedback.ts'
import { i18n } from '../../renderer/console/i18n/index.ts'

const words = (): string[] => Array.from(document.querySelectorAll('[role="alert"]'), ({ textContent }) => textContent)

test('Three messages show at a time: the newest always, the oldest disappear first', async () => {
  const feedback = Promise.withResolvers<ReturnType<typeof useFeedback>>()
  const page = createApp({
    setup() {
      feedback.resolve(useFeedback())
      return () => h(MessageHost)
    },
  })
  page.use(i18n).mount(document.createElement('div'))
  const { tell, warn, fail } = await feedback.promise
  warn('The first')
  warn('The second')
  fail(new Error('an error that nobody foresaw'))
  tell('The fourth')
  await expect.poll(() => words().some((word) => word.includes('The fourth'))).toBe(true)
  await expect.poll(() => words().some((word) => word.includes('The first'))).toBe(false)
  // Repeated, it becomes the newest.
  warn('The second')
  tell('The fifth')
  await expect.poll(words).toHaveLength(3)
  expect(words().map((word) => word.trim())).toEqual(
    expect.arrayContaining([expect.stringContaining('The second'), expect.stringContaining('The fifth')]),
  )
  page.unmount()
})
