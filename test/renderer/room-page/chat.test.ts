import { expect, onTestFinished, test, vi } from 'vitest'
import { ChatLines, OwnLines } from '../../../renderer/room-page/session/chat-lines.ts'
import { RoomView } from '../../../renderer/room-page/session/room-view.ts'

test('a message that was not confirmed is sent again soon after, and given back to its author later, once', () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const chat = new ChatLines(new RoomView(), () => undefined)
  const own = new OwnLines()
  own.say('early')
  vi.advanceTimersByTime(16_000)
  own.say('just now')
  chat.draft.value = 'half'
  const { fresh, late } = own.again()
  expect([fresh, late]).toEqual([['just now'], ['early']])
  chat.giveBack(late)
  expect(chat.draft.value).toBe('early\nhalf')
  expect(own.again()).toEqual({ fresh: ['just now'], late: [] })
  own.told([{ id: 1, at: 0, user_id: 'me', user_name: 'Me', text: 'just now' }], 'me')
  expect(own.again()).toEqual({ fresh: [], late: [] })
})
