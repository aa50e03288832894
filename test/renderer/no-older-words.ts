import { afterEach } from 'vitest'
import { nextTick } from 'vue'

// A word such as "The settings were saved" stays for seconds; the next test in the same page would take it for its own. Closed and not
// only taken out of the page: while it counts as shown, the same word is not shown again.
afterEach(async () => {
  // Some tests of the page need no page.
  if (typeof document === 'undefined' || document.querySelector('.el-message') === null) return
  const { ElMessage } = await import('element-plus')
  ElMessage.closeAll()
  await nextTick()
  for (const word of document.querySelectorAll('.el-message')) word.remove()
})
