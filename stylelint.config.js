const colourFunctions = ['rgb', 'rgba', 'hsl', 'hsla', 'hwb', 'lab', 'lch', 'oklab', 'oklch']

/** Checks the sheets, and the `<style>` blocks of components. */
export default {
  rules: {
    'block-no-empty': true,
    'declaration-block-no-duplicate-properties': [true, { ignore: ['consecutive-duplicates-with-different-values'] }],
    'declaration-block-no-redundant-longhand-properties': true,
    'declaration-block-no-shorthand-property-overrides': true,
    'declaration-property-value-no-unknown': true,
    'font-family-no-duplicate-names': true,
    'function-no-unknown': true,
    'keyframe-block-no-duplicate-selectors': true,
    'media-feature-name-no-unknown': true,
    'media-query-no-invalid': true,
    'no-duplicate-selectors': true,
    'no-invalid-position-at-import-rule': true,
    'no-irregular-whitespace': true,
    'property-no-unknown': true,
    'property-no-vendor-prefix': true,
    'selector-pseudo-class-no-unknown': [true, { ignorePseudoClasses: ['deep', 'slotted'] }],
    'selector-pseudo-element-no-unknown': true,
    'selector-type-no-unknown': true,
    'shorthand-property-no-redundant-values': true,
    'unit-no-unknown': true,
    // A colour is a token of renderer/kit/styles/tokens.css.
    'color-named': 'never',
    'color-no-hex': true,
    'function-disallowed-list': colourFunctions,
  },
  overrides: [
    { files: ['renderer/**/*.vue'], customSyntax: 'postcss-html' },
    {
      // Tokens of the console and the room page, and those of the player, which loads no other sheet.
      files: ['renderer/kit/styles/tokens.css', 'renderer/player/player.css'],
      rules: { 'color-no-hex': null, 'function-disallowed-list': null },
    },
  ],
}
