import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const renderer = join(import.meta.dirname, '../../../renderer')

/** Elements that make a dialog, panel or menu. A component of this name is such an element itself. */
export const surfaceKinds = [
  'AppDialog',
  'FormDialog',
  'ElPopconfirm',
  'ElPopover',
  'SidePanel',
  'AppMenu',
  'PanelFrame',
  'dialog',
] as const
/** A hand-made surface: it belongs into one of the elements above. */
const handMade = /\b(?:role="(?:dialog|alertdialog|menu)"|aria-modal=|popover=)/

/** Every dialog, panel and menu of these folders of the page's sources, by component and kind, e.g. `RoomDialog FormDialog`. */
export function surfacesIn(...folders: readonly ('console' | 'kit' | 'room-page')[]): string[] {
  const kinds = new RegExp(`<(${surfaceKinds.join('|')})[\\s>]`, 'g')
  return readdirSync(renderer, { recursive: true, encoding: 'utf8' })
    .filter(
      (path) =>
        path.endsWith('.vue') && !path.startsWith('kit/gallery') && folders.some((folder) => path.startsWith(folder)),
    )
    .flatMap((path) => {
      const component = basename(path, '.vue')
      if (surfaceKinds.some((kind) => kind === component)) return []
      const text = readFileSync(join(renderer, path), 'utf8')
      const template = text.slice(text.indexOf('\n<template>'))
      const found = [...template.matchAll(kinds)].map(([, kind]) => `${component} ${kind}`)
      return handMade.test(template) ? [...found, `${component} by hand`] : found
    })
    .sort()
}
