import type { Shortcut } from '../kit/composables/useShortcuts.ts'

/** Shortcuts in a meeting. */
export const shortcuts = {
  microphone: { keys: ['m'] },
  camera: { keys: ['v'] },
  chat: { keys: ['c'] },
  full: { keys: ['f'] },
  hand: { keys: ['h'] },
  reactions: { keys: ['r'] },
  pin: { keys: ['p'] },
  pageBefore: { keys: ['PageUp'] },
  pageAfter: { keys: ['PageDown'] },
  back: { keys: ['Escape'], whileTyping: true },
} as const satisfies Readonly<Record<string, Shortcut>>
