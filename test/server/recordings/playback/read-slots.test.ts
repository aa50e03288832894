import { expect, test } from 'vitest'
import { type Reader, ReadSlots } from '../../../../server/recordings/playback/file-reads.ts'

const limits = { all: 12, account: 4, address: 8 }
const viewer = (account: string, address = '10.0.0.1'): Reader => ({ role: 'viewer', account, address })

/** Slots, and the accounts whose reads gave way. */
function site() {
  const slots = new ReadSlots(limits)
  const cut: string[] = []
  const take = (reader: Reader) => slots.take(reader, () => cut.push(reader.account))
  const hold = (reader: Reader, times: number): boolean[] =>
    Array.from({ length: times }, () => take(reader) !== undefined)
  return { slots, cut, take, hold }
}

test('An account has one share, however many addresses it uses', () => {
  const { slots, cut, take } = site()
  for (let n = 0; n < 40; n++) take(viewer('eve', `10.0.0.${n}`))
  expect([slots.count, cut]).toEqual([4, []])
})

test('An address has one share, which several accounts divide fairly', () => {
  const { cut, hold } = site()
  expect(hold(viewer('eve'), 4)).toEqual([true, true, true, true])
  expect(hold(viewer('mallory'), 4)).toEqual([true, true, true, true])
  // Each new read takes the slowest one of whoever holds most, until all hold about as much.
  expect(hold(viewer('anna'), 3)).toEqual([true, true, false])
  expect([...cut].sort()).toEqual(['eve', 'mallory'])
  expect(hold(viewer('ben', '10.0.0.2'), 1)).toEqual([true])
})

test('An admin is never refused because of other accounts, and takes the slot of the slowest read', () => {
  const { slots, cut, take, hold } = site()
  const reads = ['eve', 'mallory', 'oscar'].map((name, n) => {
    hold(viewer(name, `10.0.1.${n}`), 3)
    return take(viewer(name, `10.0.1.${n}`))
  })
  expect(slots.count).toBe(limits.all)
  for (const read of reads) read?.read()
  const admin: Reader = { role: 'admin', account: 'root', address: '10.0.9.9' }
  expect(hold(admin, 4)).toEqual([true, true, true, true])
  expect(cut).toHaveLength(4)
  expect(slots.count).toBe(limits.all)
  expect(take(admin)).toBeUndefined()
})

test('A released slot is free again, once', () => {
  const { slots, take } = site()
  const slot = take(viewer('eve'))
  take(viewer('eve'))
  slot?.release()
  slot?.release()
  expect(slots.count).toBe(1)
})
