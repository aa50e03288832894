import { mount } from '@vue/test-utils'
import { afterEach, expect, test } from 'vitest'
import { defineComponent, h } from 'vue'
import { pageKeys, shortcuts } from '../../renderer/console/shortcuts.ts'
import { type Shortcut, useShortcuts } from '../../renderer/kit/composables/useShortcuts.ts'

const pressed: string[] = []
const table = {
  create: { keys: ['n'] },
  nodes: { keys: ['g n'] },
  jump: { keys: ['ArrowRight'], repeats: true },
  play: { keys: [' ', 'k'] },
  zoom: { keys: ['+'], aliases: ['='] },
  back: { keys: ['Escape'], whileTyping: true },
  find: { keys: ['Ctrl+k'] },
} as const satisfies Record<string, Shortcut>

/** Adds a component with shortcuts; each notes its name after a mark. */
function shown(mark: string, only = Object.keys(table) as (keyof typeof table)[]) {
  const actions = Object.fromEntries(only.map((name) => [name, () => void pressed.push(mark + name)]))
  const fields = () => [h('input'), h('input', { type: 'checkbox' }), h('button')]
  const component = defineComponent(() => (useShortcuts(table, actions), fields))
  return mount(component, { attachTo: document.body })
}

/** Presses a key, and returns what it did. */
function press(key: string, target: EventTarget = window, rest: KeyboardEventInit = {}): string[] {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...rest }))
  return pressed.splice(0)
}

let page: ReturnType<typeof mount> | undefined
afterEach(() => {
  page?.unmount()
  document.body.replaceChildren()
})

test('a key works in upper and lower case and by each of its names; with a modifier it is another key', () => {
  page = shown('')
  expect([press('n'), press('N'), press('k'), press('=')]).toEqual([['create'], ['create'], ['play'], ['zoom']])
  expect(press('k', window, { ctrlKey: true })).toEqual(['find'])
  expect(press('k', window, { metaKey: true })).toEqual(['find'])
  expect(press('n', window, { altKey: true })).toEqual([])
  page.unmount()
  expect(press('n')).toEqual([])
})

test('a letter that follows a prefix belongs to it', () => {
  page = shown('')
  expect([press('g'), press('n'), press('n')]).toEqual([[], ['nodes'], ['create']])
})

test('only some keys repeat while they are held down', () => {
  page = shown('')
  expect(press('ArrowRight', window, { repeat: true })).toEqual(['jump'])
  expect(press('n', window, { repeat: true })).toEqual([])
})

test('no key acts while the user types or a dialog is open, except those made for it', () => {
  page = shown('')
  const at = (selector: string) => document.querySelector(selector) ?? document.body
  expect([press('n', at('input')), press('Escape', at('input'))]).toEqual([[], ['back']])
  // A checkbox and a button only keep the space bar for themselves.
  expect([press('n', at('[type="checkbox"]')), press(' ', at('[type="checkbox"]'))]).toEqual([['create'], []])
  expect([press('k', at('button')), press(' ', at('button'))]).toEqual([['play'], []])
  document.body.insertAdjacentHTML('beforeend', '<dialog open></dialog>')
  expect([press('n'), press('k', at('button')), press('Escape')]).toEqual([[], [], []])
})

test('the component mounted last comes first', () => {
  page = shown('outer ')
  const inner = shown('inner ', ['create'])
  expect([press('n'), press('k')]).toEqual([['inner create'], ['outer play']])
  inner.unmount()
  expect(press('n')).toEqual(['outer create'])
})

test('no key of the console has two meanings in one place', () => {
  const { page: ofPage, list, wall, tile, player } = shortcuts
  for (const place of [[ofPage, player], [ofPage, wall], [list], [tile]]) {
    const ofPlace = place.flatMap((part) => Object.values<Shortcut>(part))
    const keys = [...ofPlace, ...pageKeys].flatMap((one) => one.keys)
    expect(keys).toEqual([...new Set(keys)])
  }
})
