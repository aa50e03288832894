import { afterEach } from 'vitest'
import { nextTick } from 'vue'

// All tests share one page: none leaves its language or its messages to the next one, not even where it failed.
afterEach(async () => {
  // Some tests of the page need no page.
  if (typeof document === 'undefined') return
  if (document.documentElement.lang === 'zh-CN') {
    const { showLanguage } = await import('../../renderer/console/i18n/index.ts')
    await showLanguage('en')
  }
  // A message such as "The settings were saved" stays for seconds; the next test would take it for its own. Closed and not only taken out
  // of the page: while it counts as shown, the same message is not shown again.
  if (document.querySelector('.el-message') === null) return
  const { ElMessage } = await import('element-plus')
  ElMessage.closeAll()
  await nextTick()
  for (const message of document.querySelectorAll('.el-message')) message.remove()
})
