import { expect, test } from 'vitest'
import { placeWindow } from '../../main/window-placement.ts'

const laptop = { x: 0, y: 0, width: 1280, height: 720 }
const wall = { x: 1280, y: 0, width: 2560, height: 1440 }

test('a first window fits the screen', () => {
  expect(placeWindow(null, [wall])).toEqual({ width: 1360, height: 860 })
  expect(placeWindow(null, [laptop])).toEqual({ width: 1280, height: 720 })
})

test('a window opens at its last place', () => {
  const was = { x: 1400, y: 200, width: 1500, height: 900, maximized: false }
  expect(placeWindow(was, [laptop, wall])).toEqual({ x: 1400, y: 200, width: 1500, height: 900 })
})

test('a window whose screen was unplugged moves to the remaining one', () => {
  const was = { x: 1400, y: 200, width: 1500, height: 900, maximized: false }
  expect(placeWindow(was, [laptop])).toEqual({ width: 1280, height: 720 })
})

test('a window outside the screens becomes reachable again', () => {
  const above = { x: 100, y: -500, width: 1000, height: 700, maximized: false }
  const corner = { x: 1270, y: 100, width: 1000, height: 700, maximized: false }
  for (const was of [above, corner]) expect(placeWindow(was, [laptop])).not.toHaveProperty('x')
})

test('a window too small for the console grows', () => {
  const was = { x: 10, y: 10, width: 300, height: 200, maximized: false }
  expect(placeWindow(was, [laptop])).toEqual({ x: 10, y: 10, width: 900, height: 600 })
})
