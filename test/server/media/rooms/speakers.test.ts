import { beforeEach, describe, expect, test } from 'vitest'
import { maxPassedOn, Speakers } from '../../../../server/media/rooms/speakers.ts'

const packetMs = 20
const silent = 127
/** Level of a voice: words with pauses between them, in -dBov. */
const talk = (at: number): number => (at % 400 < 300 ? 25 + (at % 7) : 70)

let now: number
let due: { at: number; run: () => void }[]
let told: string[][]
let speakers: Speakers
let sounds: Map<string, { passes: (level: number) => boolean; level: (at: number) => number; passed: number }>

beforeEach(() => {
  now = 0
  due = []
  told = []
  sounds = new Map()
  speakers = new Speakers(
    (milliseconds, run) => due.push({ at: now + milliseconds, run }),
    (speaking) => told.push(speaking),
    () => now,
  )
})

function enter(userId: string, level: (at: number) => number = () => silent): void {
  sounds.set(userId, { passes: speakers.add(userId), level, passed: 0 })
}

function say(userId: string, level: (at: number) => number): void {
  const sound = sounds.get(userId)
  if (sound !== undefined) sound.level = level
}

/** Advances the time: every user sends a packet each 20 ms. */
function pass(milliseconds: number): void {
  for (const end = now + milliseconds; now < end; now += packetMs) {
    for (const { run } of due.splice(0, due.findIndex(({ at }) => at > now) >>> 0)) run()
    for (const sound of sounds.values()) if (sound.passes(sound.level(now))) sound.passed += 1
  }
}

/** Counts the packets of each user that are forwarded during this time. */
function passedIn(milliseconds: number): Record<string, number> {
  for (const sound of sounds.values()) sound.passed = 0
  pass(milliseconds)
  return Object.fromEntries([...sounds].map(([userId, { passed }]) => [userId, passed]))
}

describe('a speaker', () => {
  test('is known within a second of a word, and no longer a second after the last one', () => {
    enter('ann', () => 75)
    enter('bob', () => 80)
    pass(5_000)
    expect(told).toEqual([])
    say('ann', talk)
    pass(1_000)
    expect(told).toEqual([['ann']])
    pass(10_000)
    expect(told).toEqual([['ann']])
    say('ann', () => 75)
    pass(1_000)
    expect(told).toEqual([['ann'], []])
    expect(speakers.spoke).toEqual(['ann'])
  })

  test('is not a user who coughs, or shuts a door', () => {
    enter('ann', () => 75)
    pass(5_000)
    const from = now
    say('ann', (at) => (at - from < 350 ? 10 : 75))
    pass(3_000)
    expect(told).toEqual([])
  })

  test('is listed with others, the latest first', () => {
    for (const userId of ['ann', 'bob', 'cam']) enter(userId, () => 75)
    pass(1_000)
    say('ann', talk)
    pass(1_500)
    say('cam', talk)
    pass(1_500)
    expect(speakers.speaking).toEqual(['cam', 'ann'])
    expect(told.at(-1)).toEqual(['cam', 'ann'])
  })

  test.each([
    ['reports maximum level all the time', () => 0],
    ['has a fan beside the microphone', (at: number) => 40 + (at % 5)],
  ])('is nobody who %s', (_, level) => {
    enter('ann', () => 75)
    enter('liar', level)
    pass(60_000)
    expect(told.flat()).not.toContain('liar')
    say('ann', talk)
    pass(1_500)
    expect(speakers.speaking).toEqual(['ann'])
  })

  test('disappears when the sound ends, and the list of recent speakers leaves out users who left', () => {
    enter('ann', () => 75)
    pass(1_000)
    say('ann', talk)
    pass(1_500)
    speakers.remove('ann')
    expect(told.at(-1)).toEqual([])
    expect(speakers.spoke).toEqual(['ann'])
    speakers.forget('ann')
    expect(speakers.spoke).toEqual([])
    // Late packets of the earlier connection do not count.
    expect(sounds.get('ann')?.passes(10)).toBe(false)
  })
})

describe('forwarded sound', () => {
  const people = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i}`)

  test('includes everybody in a small room, silent or not', () => {
    for (const userId of people(maxPassedOn)) enter(userId)
    expect(new Set(Object.values(passedIn(1_000)))).toEqual(new Set([50]))
  })

  test('includes users with sound in a large room, for a while after it', () => {
    for (const userId of people(25)) enter(userId)
    pass(5_000)
    expect(new Set(Object.values(passedIn(1_000)))).toEqual(new Set([0]))
    say('p7', talk)
    expect(passedIn(1_000)).toMatchObject({ p7: 50, p8: 0 })
    say('p7', () => silent)
    expect(passedIn(1_000)).toMatchObject({ p7: 50 })
    pass(2_000)
    expect(passedIn(1_000)).toMatchObject({ p7: 0 })
  })

  test('includes a few users where all talk at once, and excludes nobody for ever', () => {
    for (const [i, userId] of people(25).entries()) enter(userId, (at) => talk(at + i * 170))
    pass(5_000)
    const passed = passedIn(60_000)
    const sum = Object.values(passed).reduce((all, one) => all + one, 0)
    expect(sum / (60_000 / packetMs)).toBeLessThanOrEqual(maxPassedOn)
    // Nobody is cut off in the middle of a word to make room.
    expect(Object.values(passed).filter((one) => one > 0).length).toBeGreaterThanOrEqual(maxPassedOn)
  })

  test('includes a speaker at once, even if others make noise or report false levels all the time', () => {
    for (const [i, userId] of people(25).entries()) enter(userId, i < 12 ? () => 0 : () => 75)
    pass(10_000)
    const from = now
    say('p20', (at) => talk(at - from))
    expect(passedIn(1_000).p20).toBe(50)
  })

  test('includes users who report no level', () => {
    for (const userId of people(25)) enter(userId)
    enter('phone', () => -1)
    pass(5_000)
    expect(passedIn(1_000)).toMatchObject({ phone: 50, p1: 0 })
  })
})

describe('a speaker on another media server', () => {
  test('remains a speaker through a pause, the latest first, and is removed when leaving', () => {
    speakers.tell(['ann'])
    speakers.tell(['ann', 'bob'])
    speakers.tell(['bob'])
    pass(400)
    speakers.tell(['ann', 'bob'])
    pass(2_000)
    expect(told).toEqual([['ann'], ['bob', 'ann']])
    speakers.tell(['bob'])
    pass(2_000)
    expect(told.at(-1)).toEqual(['bob'])
    expect(speakers.spoke).toEqual(['bob', 'ann'])
    speakers.forget('bob')
    expect([told.at(-1), speakers.speaking, speakers.spoke]).toEqual([[], [], ['ann']])
  })
})
