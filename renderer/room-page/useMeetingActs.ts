import { ref, shallowRef } from 'vue'
import type { Person } from '../../shared/media/signal.ts'
import { problemText } from './components/device-words.ts'
import { copyInvitation, type Invitation } from './invitation.ts'
import type { RoomSession } from './session/room-session.ts'
import { fill, plural, texts } from './texts/texts.ts'

/** A question before an action that loses something. */
interface Question {
  title: string
  lines: string[]
  action: string
  yes: () => void
}

/**
 * Actions of a user in the room, by a button, a menu or a key.
 * @param invitation returns an invitation that this user can share; undefined: none, and a host requests one
 * @param pageActs actions of the page: settings, panels, windows
 */
export function useMeetingActs(
  room: RoomSession,
  invitation: () => Invitation | undefined,
  pageActs: Readonly<Record<string, () => void>>,
) {
  const { view } = room
  /** Problem of microphone, camera or screen; empty: none. */
  const problem = ref('')
  const question = shallowRef<Question | null>(null)

  const ask = (title: string, lines: string[], action: string, yes: () => void): void => {
    question.value = { title, lines, action, yes }
  }

  async function toggle(device: RoomSession['microphone']): Promise<void> {
    problem.value = ''
    if (device.input.on) return device.turnOff()
    await device.turnOn()
    // A device that the system has taken has its own banner.
    if (!device.input.taken) problem.value = problemText(device.input)
  }

  async function share(): Promise<void> {
    if (room.screen.isOn) return room.screen.stop()
    problem.value = ''
    try {
      await room.screen.start()
    } catch {
      problem.value = texts.value.problems.screenFailed
    }
  }

  function toggleHand(): void {
    const raised = !view.handRaised
    if (room.ask({ type: 'hand', raised })) room.notices.tell(raised ? 'handUp' : 'handDown')
  }

  /** Asks only if leaving loses something. */
  function leave(): void {
    const lines = []
    if (room.screen.isOn) lines.push(texts.value.ask.leaveSharing)
    if (view.locked && !view.isHost) lines.push(texts.value.ask.leaveLocked)
    if (lines.length === 0) return room.leave()
    const { leaveTitle, leave: action } = texts.value.ask
    ask(leaveTitle, lines, action, () => room.leave())
  }

  /** Runs an action of `actsOn` on one user. */
  function act(what: string, { user_id, user_name }: Person): void {
    if (what === 'mute') room.ask({ type: 'mute', user_id, kind: 'audio' })
    else if (what === 'stopCamera') room.ask({ type: 'mute', user_id, kind: 'video' })
    else if (what === 'lowerHand') room.ask({ type: 'lower_hand', user_id })
    else if (what === 'remove') {
      const { removeTitle, removeBody, remove } = texts.value.ask
      ask(fill(removeTitle, { name: user_name }), [removeBody], remove, () => room.ask({ type: 'remove', user_id }))
    }
  }

  function endForAll(): void {
    const count = [...room.people.values()].filter(({ device }) => !device).length
    const { endTitle, endBody, end } = texts.value.ask
    ask(endTitle, [plural(endBody, count)], end, () => room.ask({ type: 'end_meeting' }))
  }

  /** Asks first, because it affects everybody in the room. */
  function record(): void {
    const { recordTitle, recordBody, record: action } = texts.value.ask
    ask(recordTitle, [recordBody], action, () => room.ask({ type: 'record', on: true }))
  }

  async function invite(): Promise<void> {
    const own = invitation()
    const link = own?.link ?? (await room.requestLink())
    if (link === undefined) return
    const copied = await copyInvitation({ topic: view.topic, link })
    const refused = own === undefined ? 'copyRefused' : 'notCopied'
    room.notices.tell(copied ? 'copied' : refused, {}, copied ? 'info' : 'warn')
  }

  const choices: Readonly<Record<string, () => void>> = {
    ...pageActs,
    hand: toggleHand,
    flip: () => void room.camera.flip(),
    share: () => void share(),
    invite: () => void invite(),
    muteAll: () => {
      if (room.ask({ type: 'mute_all' })) room.notices.tell('mutedAll')
    },
    lowerHands: () => void room.ask({ type: 'lower_hand' }),
    lock: () => void room.ask({ type: 'lock', locked: true }),
    unlock: () => void room.ask({ type: 'lock', locked: false }),
    record,
    stopRecording: () => void room.ask({ type: 'record', on: false }),
    end: endForAll,
  }

  /** Runs an action of the menu. */
  const choose = (what: string): void => choices[what]?.()

  function answer(yes: boolean): void {
    const asked = question.value
    question.value = null
    if (yes) asked?.yes()
  }

  return { problem, question, toggle, share, toggleHand, leave, act, choose, answer }
}

export type MeetingActs = ReturnType<typeof useMeetingActs>
