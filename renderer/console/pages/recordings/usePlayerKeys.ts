import { onBeforeUnmount, onMounted } from 'vue'

/** Actions of the keys of the player. */
export interface PlayerActions {
  toggle(): void
  /** Seconds. */
  jump(seconds: number): void
  step(direction: 1 | -1): void
  faster(direction: 1 | -1): void
  zoom(factor: number): void
  /** Start or end of the shown time. */
  edge(side: 'from' | 'to'): void
  live(): void
  goTo(): void
  snapshot(): void
  mark(side: 'from' | 'to'): void
  export(): void
  mute(): void
}

/** Keys of the player by `KeyboardEvent.key`. */
const keys: Readonly<Record<string, (act: PlayerActions, big: boolean) => void>> = {
  ' ': (act) => act.toggle(),
  k: (act) => act.toggle(),
  ArrowLeft: (act, big) => act.jump(big ? -60 : -10),
  ArrowRight: (act, big) => act.jump(big ? 60 : 10),
  ',': (act) => act.step(-1),
  '.': (act) => act.step(1),
  '<': (act) => act.faster(-1),
  '>': (act) => act.faster(1),
  '+': (act) => act.zoom(0.5),
  '=': (act) => act.zoom(0.5),
  '-': (act) => act.zoom(2),
  Home: (act) => act.edge('from'),
  End: (act) => act.edge('to'),
  l: (act) => act.live(),
  t: (act) => act.goTo(),
  s: (act) => act.snapshot(),
  i: (act) => act.mark('from'),
  o: (act) => act.mark('to'),
  e: (act) => act.export(),
  m: (act) => act.mute(),
}

/** Whether somebody types, chooses, or has a dialog in front. */
function busy({ target }: KeyboardEvent): boolean {
  if (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, button, a, [role="slider"], [contenteditable="true"]')
  )
    return target.closest('input, textarea, select, [contenteditable="true"]') !== null
  return document.querySelector('.el-overlay:not([style*="display: none"]) [role="dialog"][aria-modal="true"]') !== null
}

/** Listens for the keys of the player while the page is shown. A letter after `g` goes to a page. */
export function usePlayerKeys(actions: PlayerActions): void {
  let goAt = Number.NEGATIVE_INFINITY
  function press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || busy(event)) return
    if (event.key === 'g') goAt = event.timeStamp
    else if (event.timeStamp - goAt < 1_500) return
    // A focused button is pressed by the space bar itself.
    if (event.key === ' ' && event.target instanceof HTMLElement && event.target.closest('button, a') !== null) return
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
    if (act === undefined) return
    event.preventDefault()
    act(actions, event.shiftKey)
  }
  onMounted(() => window.addEventListener('keydown', press))
  onBeforeUnmount(() => window.removeEventListener('keydown', press))
}
