import { expect, test } from 'vitest'
import { libconfigText } from '../../../../server/nodes/janus/configuration/libconfig.ts'

const text = (value: string): string => libconfigText([], [{ name: 'general', lines: [{ name: 'secret', value }] }])

test('A value is written as one value, whatever it contains', () => {
  expect(text('a "quoted" \\ one; } # @include')).toBe(
    'general: {\n\tsecret = "a \\"quoted\\" \\\\ one; } # @include"\n}\n',
  )
  expect(text('two\nlines\tand a bell \x07')).toBe('general: {\n\tsecret = "two\\x0alines\\x09and a bell \\x07"\n}\n')
  expect(text('Größe 密钥 \u0085')).toContain('"Größe 密钥 \u0085"')
})

test('A value that libconfig cannot represent is refused', () => {
  expect(() => text('a\0b')).toThrow(RangeError)
  expect(() => libconfigText([], [{ name: 'g', lines: [{ name: 'n', value: 1.5 }] }])).toThrow(RangeError)
})

test('A comment cannot contain a setting', () => {
  expect(libconfigText(['of\nadmin_secret = "x"\u2028"'], [])).toBe('# of admin_secret = "x" "\n')
})
