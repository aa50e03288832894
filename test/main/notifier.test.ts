import { type BrowserWindow, dialog, Notification } from 'electron'
import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Notifier } from '../../main/notifications.ts'
import { textsFor } from '../../main/texts.ts'
import { WindowNotices } from '../../main/window-notices.ts'

/** A notification as a person sees it; the stand-in shows them. */
interface Shown {
  body: string
  click: () => void
  dismiss: () => void
}

const shown = () => (Notification as unknown as { _shown: Shown[] })._shown
const logger = pino({ level: 'silent' })

/** Collects unreferenced objects, as happens in time. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // A weak reference holds what it names until the turn is over.
  await turn()
  collect()
  await turn()
}

let opened: number
let refused: string[]
let notifier: Notifier
beforeEach(() => {
  opened = 0
  refused = []
  notifier = new Notifier({ logger, open: () => void (opened += 1), onRefused: (text) => void refused.push(text) })
})

test('a click on a notification long after it appeared opens the window', async () => {
  notifier.show('MCU node Hall is offline.')
  await collectGarbage()
  expect(shown().at(-1)?.body).toBe('MCU node Hall is offline.')
  shown().at(-1)?.click()
  expect(opened).toBe(1)
})

test('a dismissed notification is released', async () => {
  const objects: WeakRef<object>[] = []
  vi.spyOn(Notification.prototype, 'show').mockImplementation(function (this: Notification) {
    objects.push(new WeakRef(this))
    this.emit(objects.length === 1 ? 'click' : 'close', {})
  })
  notifier.show('one')
  notifier.show('two')
  vi.restoreAllMocks()
  await collectGarbage()
  expect(objects.map((held) => held.deref())).toEqual([undefined, undefined])
})

test('a notification that the system refuses is shown another way', async () => {
  vi.stubEnv('STANDIN_NOTIFICATIONS', 'failed')
  notifier.show('MCU node Hall is offline.')
  await turn()
  expect(refused).toEqual(['MCU node Hall is offline.'])
  vi.spyOn(Notification, 'isSupported').mockReturnValue(false)
  notifier.show('Device Gate was lost.')
  expect(refused).toHaveLength(2)
})

describe('a notification that the system did not show', () => {
  const english = textsFor('en', '')
  let boxes: { message: string; detail: string }[]
  /** Closes the open dialog. */
  let close: () => void
  let isVisible: boolean
  let window: EventEmitter
  let notices: WindowNotices
  beforeEach(() => {
    boxes = []
    isVisible = false
    window = Object.assign(new EventEmitter(), { isVisible: () => isVisible, isMinimized: () => false })
    vi.spyOn(dialog, 'showMessageBox').mockImplementation(async (...values: unknown[]) => {
      boxes.push(values.at(-1) as { message: string; detail: string })
      await new Promise<void>((resolve) => (close = resolve))
      return { response: 0, checkboxChecked: false }
    })
    notices = new WindowNotices(() => english)
    notices.attach(window as unknown as BrowserWindow)
  })
  const show = () => {
    isVisible = true
    window.emit('show')
  }

  test('appears in the window once that is opened, together with others', () => {
    notices.add('one')
    notices.add('two')
    expect(boxes).toEqual([])
    show()
    expect(boxes).toMatchObject([{ message: english.notShown, detail: 'one\ntwo' }])
    window.emit('show')
    expect(boxes).toHaveLength(1)
  })

  test('appears at once in a visible window, one dialog after the other', async () => {
    show()
    notices.add('one')
    notices.add('two')
    expect(boxes).toMatchObject([{ message: 'one' }])
    close()
    await vi.waitUntil(() => boxes.length === 2)
    expect(boxes[1]).toMatchObject({ message: 'two' })
  })

  test('is forgotten except for the latest ones if nobody ever opens the window', () => {
    for (let n = 0; n < 1_000; n++) notices.add(String(n))
    show()
    expect(boxes[0]?.detail.split('\n')).toHaveLength(20)
    expect(boxes[0]?.detail).toMatch(/999$/)
  })
})
