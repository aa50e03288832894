import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultSplitRE, type Extractor, type UserConfig, type Variant } from '@unocss/core'
import presetWind3, { type Theme } from '@unocss/preset-wind3'

const sheet = readFileSync(join(import.meta.dirname, 'renderer/kit/styles/tokens.css'), 'utf8')

/** Tokens whose name begins with `prefix` and whose value matches, as a theme: name without prefix, and `var(--name)`. */
const tokens = (prefix: string, value: RegExp): Record<string, string> =>
  Object.fromEntries(
    [...sheet.matchAll(/^ {2}--([\w-]+): (.+);$/gm)]
      .filter(([, name = '', content = '']) => name.startsWith(prefix) && value.test(content))
      .map(([, name = '']) => [name.slice(prefix.length).replace(/^-/, '') || 'DEFAULT', `var(--${name})`]),
  )

/** Utilities are written in the `class` attributes of templates only: other words of a source never become styles. */
const classAttributes: Extractor = {
  name: 'class-attributes',
  extract: ({ code }) =>
    [...code.matchAll(/\bclass="([^"]*)"/g)].flatMap(([, classes = '']) => classes.split(defaultSplitRE)),
}

/** Variants by the size of the window: a phone; a phone in landscape; 200 % zoom; a navigation of icons only. */
const windows = {
  phone: '(max-width: 640px)',
  short: '(max-height: 480px)',
  low: '(max-height: 620px)',
  slim: '(min-width: 640.02px) and (max-width: 1180px)',
}

const sides = { '': '', '-t': '-top', '-r': '-right', '-b': '-bottom', '-l': '-left' }

/** Utilities of all pages: those of Tailwind 3, with the design tokens as colours, sizes, radii and shadows. */
const utilities: UserConfig<Theme> = {
  presets: [presetWind3({ preflight: 'on-demand' })],
  extractorDefault: false,
  extractors: [classAttributes],
  // Classes of the kit's sheets have these names.
  blocklist: ['filter', 'grow', 'tab', 'table'],
  theme: {
    colors: {
      ...tokens('', /^(?:#|rgb|color-mix)/),
      inherit: 'inherit',
      transparent: 'transparent',
      current: 'currentColor',
    },
    fontSize: Object.fromEntries(Object.entries(tokens('type', /px$/)).map(([name, size]) => [name, [size, {}]])),
    borderRadius: { ...tokens('radius', /px$/), full: '9999px' },
    spacing: { edge: 'var(--edge)', gap: 'var(--gap)' },
    fontFamily: { mono: 'var(--mono)' },
  },
  variants: Object.entries(windows).map(
    ([name, query]): Variant<Theme> => ({
      name,
      match: (utility) =>
        utility.startsWith(`${name}:`)
          ? {
              matcher: utility.slice(name.length + 1),
              handle: (input, next) => next({ ...input, parent: `@media ${query}` }),
            }
          : undefined,
    }),
  ),
  rules: [
    ...Object.entries(tokens('shadow', /./)).map(([name, shadow]): [string, Record<string, string>] => [
      name === 'DEFAULT' ? 'shadow' : `shadow-${name}`,
      { 'box-shadow': shadow },
    ]),
    ['outline-none', { outline: 'none' }],
    // The mark of a focused element, for one that surrounds it: `has-[:focus-visible]:marked`.
    ['marked', { outline: '2px solid var(--focus)', 'outline-offset': '1px' }],
    // As many columns as have room, each at least so wide: `grid-fit-220px`; `grid-fill-` keeps those that are empty.
    [
      /^grid-(fit|fill)-(\d+px)$/,
      ([, mode, least]) => ({ 'grid-template-columns': `repeat(auto-${mode}, minmax(min(${least}, 100%), 1fr))` }),
    ],
    ['tabular-nums', { 'font-variant-numeric': 'tabular-nums' }],
  ],
  shortcuts: [
    // A border is a line of 1 px; a colour beside it (`border-t border-accent`) replaces that of the line.
    ...Object.entries(sides).flatMap(([name, side]): [string, [Record<string, string>]][] => [
      [`border${name}`, [{ [`border${side}`]: '1px solid var(--line)' }]],
      [`border${name}-0`, [{ [`border${side}`]: '0' }]],
    ]),
    ['font-inherit', [{ font: 'inherit' }]],
    // In the middle of a positioned parent, as wide as its content.
    ['centered', [{ left: '50%', transform: 'translateX(-50%)' }]],
    // A line that scrolls sideways if it is too long, with space for the focus rings of its controls.
    ['sideways', [{ padding: '2px', margin: '-2px', overflow: 'auto hidden', 'scrollbar-width': 'none' }]],
    // A button or link without any look of its own.
    ['unstyled', [{ padding: '0', border: '0', 'background-color': 'transparent', cursor: 'pointer' }]],
    // An icon as a button, in the colour of the bar or picture around it; the large one is for fingers.
    ['tool', 'unstyled grid flex-none place-items-center size-28px text-inherit rounded-small'],
    ['tool-large', 'unstyled grid place-items-center size-32px text-inherit rounded'],
    // A word or number about a name, in a rounded shape. Its colours and its padding stand beside it.
    ['pill', 'flex-none text-mark leading-18px whitespace-nowrap rounded-9px'],
  ],
  // As specific as a scoped rule of one class: above the sheets of kit and page, below a scoped rule that is loaded later.
  postprocess: (utility) => {
    utility.selector = `:root ${utility.selector}`
  },
}
export default utilities
