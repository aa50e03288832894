import type { CaptureKind } from './capture.ts'
import { remember, remembered } from './remembered.ts'
import { tabStorage } from '../../kit/storage.ts'

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
    tabStorage.set(key + this.#kind, on ? 'on' : 'off')
  }
}

function ofTab(kind: CaptureKind): boolean | undefined {
  const stored = tabStorage.get(key + kind)
  return stored === undefined ? undefined : stored === 'on'
}
