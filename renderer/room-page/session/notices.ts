import { shallowReactive } from 'vue'
import type { Texts, TextValues } from '../texts/texts.ts'
import type { Announcer, PersonEvent } from './announcer.ts'

/** A short notice about an event. */
export interface Notice {
  id: number
  text: keyof Texts['told']
  values: TextValues
  tone: 'info' | 'warn'
  /** Not announced by the list itself, because the announcer does it. */
  mute: boolean
}

/** Events of users that the announcer reports to screen readers in batches. */
const announced: Partial<Record<Notice['text'], PersonEvent>> = { joined: 'joined', left: 'left', handRaised: 'hand' }

const most = 3
const shownMs = { info: 4_000, warn: 9_000 }

/** Notices that disappear by themselves; at most three at once. */
export class Notices {
  readonly list = shallowReactive<Notice[]>([])
  readonly #announcer: Announcer
  #id = 0

  constructor(announcer: Announcer) {
    this.#announcer = announcer
  }

  tell(text: Notice['text'], values: TextValues = {}, tone: Notice['tone'] = 'info'): void {
    const id = ++this.#id
    const event = announced[text]
    if (event !== undefined) this.#announcer.tell(event, String(values.name ?? ''))
    this.list.push({ id, text, values, tone, mute: event !== undefined })
    if (this.list.length > most) this.list.shift()
    setTimeout(() => this.drop(id), shownMs[tone])
  }

  drop(id: number): void {
    const index = this.list.findIndex((notice) => notice.id === id)
    if (index !== -1) this.list.splice(index, 1)
  }
}
