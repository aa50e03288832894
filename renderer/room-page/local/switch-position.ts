import type { CaptureKind } from './capture.ts'
import { remember, remembered } from './remembered.ts'

/** On or off, for each device. */
export type SwitchPositions = Readonly<Record<CaptureKind, boolean>>

const key = 'roomdesk.switches.'

/**
 * Position of the switch of a microphone or camera, as the user left it. It alone decides whether a device may be on:
 * whenever a device is opened, reopened or replaced, this position applies. The tab stores it for a reload, the browser
 * for the next visit.
 */
export class SwitchPosition {
  readonly #kind: CaptureKind
  #on: boolean

  constructor(kind: CaptureKind) {
    this.#kind = kind
    this.#on = ofTab(kind) ?? (kind === 'audio' ? remembered().audioOn : remembered().videoOn)
  }

  get on(): boolean {
    return this.#on
  }

  /** Sets the position by a click of the user. A host may set it to off. */
  press(on: boolean): void {
    this.settle(on)
    remember(this.#kind === 'audio' ? { audioOn: on } : { videoOn: on })
  }

  /**
   * Sets the position for this visit only: the user joined with it, or left it so on the page that this one continues.
   */
  settle(on: boolean): void {
    this.#on = on
    try {
      sessionStorage.setItem(key + this.#kind, on ? 'on' : 'off')
    } catch {
      // Storage may be disabled: a reload then uses the position of the last visit.
    }
  }
}

function ofTab(kind: CaptureKind): boolean | undefined {
  try {
    const stored = sessionStorage.getItem(key + kind)
    return stored === null ? undefined : stored === 'on'
  } catch {
    return undefined
  }
}
