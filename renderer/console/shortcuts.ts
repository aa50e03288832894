import type { Shortcut } from '../kit/composables/useShortcuts.ts'
import type { TextKey } from './i18n/text.ts'
import { titledPages } from './pages.ts'

/** A shortcut of the console. Shortcuts with the same text share a line in the list of shortcuts. */
interface ListedShortcut extends Shortcut {
  text: TextKey
}

/** Shortcuts by the place where they act, in the order of the list of shortcuts. */
export const shortcuts = {
  /** On every page, or on many pages. */
  page: {
    find: { keys: ['Ctrl+k'], text: 'shortcuts.find' },
    search: { keys: ['/'], text: 'shortcuts.search' },
    create: { keys: ['n'], text: 'shortcuts.create' },
    pause: { keys: ['p'], text: 'shortcuts.pause' },
    undo: { keys: ['Ctrl+z'], text: 'shortcuts.undo' },
    close: { keys: ['Escape'], text: 'shortcuts.close' },
    sheet: { keys: ['?'], text: 'shortcuts.sheet' },
  },
  list: {
    up: { keys: ['ArrowUp'], text: 'shortcuts.move', repeats: true },
    down: { keys: ['ArrowDown'], text: 'shortcuts.move', repeats: true },
    pageUp: { keys: ['PageUp'], text: 'shortcuts.movePage', repeats: true },
    pageDown: { keys: ['PageDown'], text: 'shortcuts.movePage', repeats: true },
    first: { keys: ['Home'], text: 'shortcuts.ends' },
    last: { keys: ['End'], text: 'shortcuts.ends' },
    open: { keys: ['Enter'], text: 'shortcuts.open' },
    select: { keys: [' '], text: 'shortcuts.select' },
    fold: { keys: ['ArrowLeft'], text: 'shortcuts.fold' },
    unfold: { keys: ['ArrowRight'], text: 'shortcuts.fold' },
  },
  wall: {
    full: { keys: ['f'], text: 'shortcuts.full' },
    pageBefore: { keys: ['PageUp'], text: 'shortcuts.turnWall', repeats: true },
    pageAfter: { keys: ['PageDown'], text: 'shortcuts.turnWall', repeats: true },
  },
  /** On a focused tile of the wall. */
  tile: {
    move: { keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'], text: 'shortcuts.moveTile', repeats: true },
    enlarge: { keys: ['Enter'], text: 'shortcuts.enlargeTile' },
    remove: { keys: ['Delete'], text: 'shortcuts.removeTile' },
  },
  player: {
    toggle: { keys: [' ', 'k'], text: 'playback.keys.toggle' },
    back: { keys: ['ArrowLeft'], text: 'playback.keys.jump', repeats: true },
    forward: { keys: ['ArrowRight'], text: 'playback.keys.jump', repeats: true },
    stepBack: { keys: [','], text: 'playback.keys.step', repeats: true },
    stepForward: { keys: ['.'], text: 'playback.keys.step', repeats: true },
    slower: { keys: ['<'], text: 'playback.keys.speed' },
    faster: { keys: ['>'], text: 'playback.keys.speed' },
    zoomIn: { keys: ['+'], aliases: ['='], text: 'playback.keys.zoom', repeats: true },
    zoomOut: { keys: ['-'], text: 'playback.keys.zoom', repeats: true },
    start: { keys: ['Home'], text: 'playback.keys.edge' },
    end: { keys: ['End'], text: 'playback.keys.edge' },
    live: { keys: ['l'], text: 'playback.keys.live' },
    goTo: { keys: ['t'], text: 'playback.goTo' },
    snapshot: { keys: ['s'], text: 'playback.keys.snapshot' },
    markStart: { keys: ['i'], text: 'playback.keys.mark' },
    markEnd: { keys: ['o'], text: 'playback.keys.mark' },
    export: { keys: ['e'], text: 'playback.keys.export' },
    mute: { keys: ['m'], text: 'playback.keys.mute' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ListedShortcut>>>>

/** Shortcuts that open a page: `g`, then the letter of the page. */
export const pageKeys = titledPages.flatMap(({ key, name, title, address }) =>
  key === undefined ? [] : [{ keys: [`g ${key}`], name, text: title, address }],
)
