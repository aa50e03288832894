import { join } from 'node:path'
import { Linter, type Rule } from 'eslint'
import { expect, test } from 'vitest'
import vueParser from 'vue-eslint-parser'

const path = join(import.meta.dirname, '../../eslint-rules/utilities-first.js')
const { utilitiesFirst } = (await import(path)) as { utilitiesFirst: Rule.RuleModule }

function refusals(template: string, css: string): number {
  const config: Linter.Config = {
    files: ['**/*.vue'],
    languageOptions: { parser: vueParser },
    plugins: { roomdesk: { rules: { utilities: utilitiesFirst } } },
    rules: { 'roomdesk/utilities': 'error' },
  }
  const text = `<template>${template}</template>\n<style scoped>\n${css}\n</style>\n`
  return new Linter().verify(text, config, { filename: 'a.vue' }).length
}

test('refuses a class that styles one element with what utilities express', () => {
  expect(refusals('<p class="note">a</p>', '.note { margin-top: 4px; color: var(--muted) }')).toBe(1)
})

test.each([
  ['the class has another rule', '<p class="note">a<b /></p>', '.note { color: var(--muted) } .note b { color: red }'],
  ['the class is toggled', '<p class="note" :class="{ note: on }" />', '.note { color: var(--muted) }'],
  ['it styles several elements', '<p class="note" /><p class="note" />', '.note { color: var(--muted) }'],
  ['it styles the root of a component', '<AppIcon class="note" />', '.note { color: var(--muted) }'],
  ['it is animated', '<p class="note" />', '.note { animation: beat 1s }'],
  ['a comment says why', '<p class="note" />', '/* Over the picture. */ .note { color: var(--muted) }'],
  ['it depends on the window', '<p class="note" />', '@media print { .gone { x: y } .note { color: var(--muted) } }'],
])('accepts a rule if %s', (_, template, css) => {
  expect(refusals(template, css)).toBe(0)
})
