import { expect, test } from 'vitest'
import { consoleSurfaces, onOtherSites } from './surfaces/console-surfaces.ts'
import { entranceSurfaces, roomSurfaces } from './surfaces/room-surfaces.ts'
import { surfacesIn } from './surfaces/sources.ts'

/** Axe looks at what has an entry: `npm run faults -- surfaces page-accessibility`. */
const places = 'Say in test/e2e/surfaces/ how to open each one:'

test('each dialog, panel and menu of the console has an entry that says how to open it', () => {
  const entries = [...Object.keys(consoleSurfaces('')), ...Object.keys(onOtherSites)].sort()
  expect(surfacesIn('console', 'kit'), `${places} console-surfaces.ts`).toEqual(entries)
})

test('each dialog, panel and menu of the room page has an entry that says how to open it', () => {
  const entries = [...Object.keys(entranceSurfaces), ...Object.keys(roomSurfaces)].sort()
  expect(surfacesIn('room-page'), `${places} room-surfaces.ts`).toEqual(entries)
})
