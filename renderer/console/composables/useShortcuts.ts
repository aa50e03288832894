import { onBeforeUnmount, onMounted } from 'vue'

/** Shortcuts of a page: the actions of `/`, `n`, `p` and `f`. */
export interface PageShortcuts {
  /** Focuses the search field. */
  search?: () => void
  /** Starts creating an item. */
  create?: () => void
  /** Pauses or resumes live updates. */
  pause?: () => void
  /** Enters or leaves full screen. */
  full?: () => void
}

const pages: PageShortcuts[] = []
const global = new Map<string, () => void>()
let prefix = 0

/** Pages reached by `g` and a letter. */
export const goKeys: Readonly<Record<string, string>> = {
  o: '/overview',
  c: '/credentials',
  r: '/rooms',
  n: '/nodes',
  k: '/controllers',
  d: '/devices',
  w: '/wall',
  v: '/recordings',
  e: '/events',
  a: '/activity',
  t: '/tester',
  x: '/trash',
  s: '/settings',
  l: '/lab',
  h: '/help',
}

/** Tells whether the operator is typing, or a dialog is in front: then keys are no shortcuts. */
function busy(event: KeyboardEvent): boolean {
  const target = event.target
  if (target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]')) return true
  return document.querySelector('.el-overlay:not([style*="display: none"]) [role="dialog"][aria-modal="true"]') !== null
}

function press(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || busy(event)) return
  const page = pages.at(-1)
  if (prefix && event.timeStamp - prefix < 1_500) {
    prefix = 0
    const go = global.get(`g ${event.key}`)
    if (go) {
      event.preventDefault()
      go()
    }
    return
  }
  const own: Readonly<Record<string, (() => void) | undefined>> = {
    '/': page?.search,
    n: page?.create,
    p: page?.pause,
    f: page?.full,
  }
  const act = Object.hasOwn(own, event.key) ? own[event.key] : global.get(event.key)
  if (event.key === 'g') prefix = event.timeStamp
  if (!act) return
  event.preventDefault()
  act()
}

/** Listens for keys; `actions` work on every page, by key. Called once, by the shell. */
export function useGlobalShortcuts(actions: Readonly<Record<string, () => void>>): void {
  onMounted(() => {
    for (const [key, act] of Object.entries(actions)) global.set(key, act)
    window.addEventListener('keydown', press)
  })
  onBeforeUnmount(() => {
    global.clear()
    window.removeEventListener('keydown', press)
  })
}

/** Registers the keys of this page while it is shown. */
export function usePageShortcuts(shortcuts: PageShortcuts): void {
  onMounted(() => pages.push(shortcuts))
  onBeforeUnmount(() => {
    const index = pages.indexOf(shortcuts)
    if (index >= 0) pages.splice(index, 1)
  })
}
