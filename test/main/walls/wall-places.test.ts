import { expect, test } from 'vitest'
import { isWayOut, mayReachWall } from '../../../main/walls/wall-keys.ts'
import { findDisplays } from '../../../main/walls/walls.ts'

const display = (id: number, label = 'LG', width = 1920) => ({ id, label, width, height: 1080 })
const choice = (id: number, label?: string, width?: number) => ({
  display: display(id, label, width),
  view: `view ${id}`,
})

/** Ids of the displays that the choices get. */
const found = (choices: ReturnType<typeof choice>[], ...displays: ReturnType<typeof display>[]) =>
  [...findDisplays(choices, displays)].map(([index, { id }]) => [choices[index]?.display.id, id])

test('a display is found by its id, even if its name changed', () => {
  expect(found([choice(1, 'LG'), choice(2, 'LG')], display(2, ''), display(1, 'Dell'))).toEqual([
    [1, 1],
    [2, 2],
  ])
})

test('a display with a new id is found by name and size, each display once', () => {
  expect(found([choice(1), choice(2)], display(2), display(9))).toEqual([
    [2, 2],
    [1, 9],
  ])
  expect(found([choice(1), choice(2)], display(9))).toEqual([[1, 9]])
})

test('another size, another name or no name is another display', () => {
  expect(found([choice(1)], display(9, 'LG', 3840))).toEqual([])
  expect(found([choice(1)], display(9, 'Dell'))).toEqual([])
  expect(found([choice(1, '')], display(9, ''))).toEqual([])
})

const pressed = { type: 'keyDown' as const, control: true, alt: true, meta: false, key: 'q', code: 'KeyQ' }

test.each([
  ['Ctrl+Alt+Q', {}],
  ['AltGr+Q on a German keyboard, which Windows reports as Ctrl+Alt', { key: '@' }],
  ['the key with a Q on a French keyboard', { code: 'KeyA' }],
  ['control+option+Q on a Mac', { key: 'œ' }],
])('%s is the way out', (_keys, change) => {
  expect(isWayOut({ ...pressed, ...change })).toBe(true)
})

test.each([
  ['Ctrl+Q', { alt: false }],
  ['Alt+Q', { control: false }],
  ['another letter', { key: 'w', code: 'KeyW' }],
  ['the same keys coming up', { type: 'keyUp' as const }],
])('%s is not', (_keys, change) => {
  expect(isWayOut({ ...pressed, ...change })).toBe(false)
})

test('a wall receives the keys that turn its pages, and no shortcut', () => {
  const plain = { control: false, alt: false, meta: false }
  expect(['PageDown', 'Enter', 'Escape', 'f'].map((key) => mayReachWall({ ...plain, key }))).not.toContain(false)
  expect(['F5', 'F11', 'F12'].map((key) => mayReachWall({ ...plain, key }))).not.toContain(true)
  for (const held of ['control', 'alt', 'meta']) expect(mayReachWall({ ...plain, [held]: true, key: 'r' })).toBe(false)
})
