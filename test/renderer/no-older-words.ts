import { afterEach } from 'vitest'

// A word such as "The settings were saved" stays for seconds; the next test in the same page would take it for its own.
// Some tests of the page need no page.
afterEach(() => {
  if (typeof document === 'undefined') return
  for (const word of document.querySelectorAll('.el-message')) word.remove()
})
