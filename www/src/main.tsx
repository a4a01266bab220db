import './style/page.css';
import { render } from 'preact';
import { Shell } from './shell';

const root = document.getElementById('page');
if (root) {
  root.replaceChildren();
  render(<Shell />, root);
}
